"""The promises of the desk, I1 to I18 (reliability, section 1.3), each as a function that looks for a violation.

The tests and ``antiphon doctor --audit`` ask the same functions. They only read, and never say a word of a post, a
reply or a note.
"""
