/** What is known of an element beside its selectors, to find it again after a release. */
export interface KnownElement {
  /** Its ARIA role, as Chromium computes it; empty when it has none. */
  role: string
  /** Its accessible name, at most 200 characters. */
  name: string
  /** Lower case. */
  tag: string
  /** Its own visible text, blanks collapsed, at most 200 characters. */
  text: string
}
