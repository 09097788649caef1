"""Tables of any common form as stories: strict reading, column maps, the native format."""
