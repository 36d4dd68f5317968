/** How a consent banner is answered, where there is one, before anything else is done. */
export interface Consent {
  mode: 'none' | 'accept' | 'deny'
  /** CSS selectors of what is to be pressed, in this order; empty: the buttons of known banners, then by their texts. */
  selectors: readonly string[]
}
