/** How to answer a consent banner before the first step. */
export interface Consent {
  mode: 'none' | 'accept' | 'deny'
  /** CSS selectors to click, in this order; empty: buttons of known banners, then buttons by their texts. */
  selectors: readonly string[]
}
