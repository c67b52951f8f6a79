//! Whole-workspace tests, in one binary so that they link once.
