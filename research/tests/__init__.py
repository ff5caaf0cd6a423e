"""Tests of the scripts of the research: `python3 -m unittest discover --start-directory tests --top-level-directory .`"""
import folders  # The modules of all folders are known behind it.
