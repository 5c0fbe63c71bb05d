//! A plugin whose behaviour a file beside it chooses
