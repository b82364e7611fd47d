"""The section Library of Data."""
