/** Headers of API responses: no caching, no content sniffing, no framing. */
export const API_HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
}

const pagePolicy = (styles: string) =>
  `default-src 'none'; connect-src 'self'; img-src 'self' data:; style-src ${styles}; script-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`

/** Headers of pages. Pages load scripts and styles only from this server and can't be framed. */
export const PAGE_HEADERS = {
  'content-security-policy': pagePolicy("'self'"),
  'cross-origin-opener-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
}

/** Headers of the API documentation, whose renderer needs inline styles. */
export const DOCS_HEADERS = { ...PAGE_HEADERS, 'content-security-policy': pagePolicy("'self' 'unsafe-inline'") }

/** Headers of the dashboard, whose components set styles at run time: https://mantine.dev/styles/css-variables */
export const DASHBOARD_HEADERS = DOCS_HEADERS
