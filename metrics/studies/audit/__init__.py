"""Which published order stands, and by which convention was the table made?"""
