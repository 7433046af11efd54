"""The checking algorithms, as generated C [Bao2016, sections 4.1.2, 4.2 and 5].

Algorithm A (figure 4), Algorithm B (figure 5) and a third encoding of shadows; delayed detection, and checks
of whole loop nests.
"""
