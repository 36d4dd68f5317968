/** Properties of an element other than its selectors, used to find it again after a release. */
export interface KnownElement {
  /** ARIA role as computed by Chromium; empty when it has none. */
  role: string
  /** Accessible name, at most 200 characters. */
  name: string
  /** Tag name in lower case. */
  tag: string
  /** Visible text of the element with whitespace collapsed, at most 200 characters. */
  text: string
  /** The frame that contained the element; absent when the recording specifies none. */
  frame?: KnownFrame
}

/** Properties that identify a frame regardless of its position on the page. */
export interface KnownFrame {
  /** Name of the frame element, at most 200 characters; empty when it has none. */
  name: string
  /** Host and path of the frame's URL, at most 200 characters; empty when it is not a web address. */
  place: string
}
