"""Do ties predict the gap?"""
