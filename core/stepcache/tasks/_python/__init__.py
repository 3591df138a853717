"""How Python source is read and renamed, as text and syntax tree alone; nothing is ever executed or compiled here."""
