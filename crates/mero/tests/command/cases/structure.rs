//! How files are laid out: headers, footers, separators, sheets, nested fields, kinds of file.
