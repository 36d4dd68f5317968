import type { DecodedEvent, Decoder } from './decoder.ts'
import { unfolded } from './json.ts'
import { objectOf, objectsOf, scalarOrNull, scalarText } from './params.ts'
import { jsonEvent, scriptLoad, sideChannel } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

/** Reports that the script sends automatically, by path of the URL and, in batches, by type. */
const REPORTS = new Map([
  ['uia', 'page_view'],
  ['imp', 'impression'],
  ['rimp', 'impression'],
  ['var', 'variation_impression'],
  ['ac', 'click'],
  ['id', 'identify'],
])

/** https://dy.dev/reference documents the server API. The protocol of the script is not documented. */
export const dynamicYield: Decoder = {
  vendor: 'Dynamic Yield',
  source: 'https://dy.dev/docs/implement-script',
  hosts: ['dynamicyield.com', 'dynamicyield.eu', 'dy-api.com', 'dy-api.eu'],
  routes: [
    { path: /^\/(?:uia|r?imp|var|ac|id|dpx)$/, when: isCollector, read: readReport },
    { path: /^\/batch$/, when: isCollector, read: readBatch },
    { path: /^\/v2\/collect\/user\/event$/, read: readServerEvents },
    jsonEvent(/^\/v2\/collect\/user\/(?<event>\w+)$/),
    scriptLoad(/^\/api\/(?<account>\d+)\/api_(?:static|dynamic)\.js$/),
    scriptLoad(/^\/scripts\/[\w.-]+\/dy[\w.-]*\.js$/),
    // Requests for variations and recommendations, and reports of the time spent on the page.
    { ...sideChannel(/^\//), when: ({ host }) => /^(?:(?:async-)?px|st|rcom|direct)[.-]/.test(host) },
  ],
}

function isCollector({ host }: VendorRequest): boolean {
  return /^(?:async-)?px[.-]/.test(host)
}

/** `sec` or `se` is the section, which identifies the site. Custom events (`dpx`) have names and `props`. */
function readReport({ path, fields }: VendorRequest): DecodedEvent[] {
  const event = REPORTS.get(path.slice(1)) ?? fields.name ?? ''
  const params = 'props' in fields ? { ...fields, props: unfolded(fields.props) } : fields
  return [{ event, account: scalarOrNull(fields.sec ?? fields.se), params }]
}

/** `{"md": {"sec": …}, "data": [{"type": "imp", …}]}` */
function* readBatch({ query, json }: VendorRequest): Iterable<DecodedEvent> {
  const shared = objectOf(json.md)
  const account = scalarOrNull(shared.sec ?? shared.se ?? query.sec)
  for (const report of objectsOf(json.data)) {
    const type = scalarText(report.type)
    yield { event: REPORTS.get(type) ?? (scalarText(report.name) || type), account, params: { ...shared, ...report } }
  }
}

/** The account key is in a header. */
function* readServerEvents({ json }: VendorRequest): Iterable<DecodedEvent> {
  const { user, session, context } = json
  for (const event of objectsOf(json.events)) {
    yield { event: scalarText(event.name), account: null, params: { user, session, context, ...event } }
  }
}
