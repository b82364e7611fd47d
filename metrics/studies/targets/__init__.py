"""Is the bar met?"""
