/** A request in a made-up recording. */
export interface Sent {
  /** Path and query of the vendor's request. */
  url: string
  /** URL of the page. */
  page?: string
  method?: string
  body?: string
  /** Milliseconds since the start of the recording. Default: one second after the request before. */
  at?: number
}

export const START = Date.UTC(2026, 3, 1, 12)
const AGENT = 'Mozilla/5.0 (X11; Linux x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36'
const PAGE = 'https://shop.example/checkout/thanks'

/** Returns a HAR with these requests, in the form that browsers export. */
export function harOf(sent: readonly Sent[]) {
  const entries = sent.map(({ url, page = PAGE, method = 'GET', body, at }, index) => ({
    startedDateTime: new Date(START + (at ?? index * 1000)).toISOString(),
    time: 12,
    request: {
      method,
      url,
      headers: [
        { name: 'Referer', value: page },
        { name: 'User-Agent', value: AGENT },
      ],
      ...(body === undefined ? {} : { postData: { mimeType: 'text/plain', text: body }, bodySize: body.length }),
    },
    response: { status: 204, content: { mimeType: 'text/plain' } },
  }))
  return { log: { version: '1.2', creator: { name: 'test', version: '1' }, pages: [], entries } }
}

/** Returns a request of Google Analytics 4. `data`: parameters of the request, such as `ep.transaction_id`. */
export function ga4(event: string, data: Record<string, string> = {}, values: Omit<Sent, 'url'> = {}): Sent {
  const query = new URLSearchParams({ v: '2', tid: 'G-SHOP', cid: '1.2', en: event, ...data })
  return { url: `https://region1.google-analytics.com/g/collect?${query}`, ...values }
}

/** Returns a request of the Meta Pixel. */
export function meta(event: string, values: Omit<Sent, 'url'> = {}): Sent {
  return { url: `https://www.facebook.com/tr/?id=123&ev=${event}`, ...values }
}
