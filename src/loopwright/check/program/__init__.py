"""The program under test, as text [Bao2016, sections 4 and 4.1.2].

Its segment, all code the segment reaches, the operations to check, and the places where checks are inserted.
"""
