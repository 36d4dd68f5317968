/** Answers of the API are for their caller alone, are no page, and belong into no frame. */
export const API_HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
}

const pagePolicy = (styles: string) =>
  `default-src 'none'; connect-src 'self'; img-src 'self' data:; style-src ${styles}; script-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`

/** Pages load nothing from elsewhere, run no script and no style that does not come as a file of ours, and belong into no frame. */
export const PAGE_HEADERS = {
  'content-security-policy': pagePolicy("'self'"),
  'cross-origin-opener-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
}

/** What draws the description of the API has its styles in its elements. */
export const DOCS_HEADERS = { ...PAGE_HEADERS, 'content-security-policy': pagePolicy("'self' 'unsafe-inline'") }
