import type { DecodedEvent, Decoder, Route } from './decoder.ts'
import { scalarOrNull } from './params.ts'
import { scriptLoad } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

const VISIT: Route = { path: /^\/visitor\/v\d+\/svrGP(?:\.aspx|\.gif)?$/, read: readVisit }
const FORM: Route = { path: /^\/e\/f\d?(?:\.aspx)?$/, read: readForm }

/** The account is the site id: `123` in `s123.t.eloqua.com`. */
export const oracleEloqua: Decoder = {
  vendor: 'Oracle Eloqua',
  source:
    'https://docs.oracle.com/en/cloud/saas/marketing/eloqua-user/Help/EloquaAsynchronousTrackingScripts/EloquaAsynchronousTrackingScripts.htm',
  hosts: ['eloqua.com', 'en25.com'],
  routes: [
    { ...VISIT, when: ({ query }) => 'pps' in query },
    FORM,
    scriptLoad(/^\/i\/elqCfg(?:\.min)?\.js$/),
    // Requests to the customer's own tracking domain.
    {
      ...VISIT,
      anyHost: true,
      mark: /^(?=.*[?&]pps=).*[?&]siteid=\d/,
      when: ({ query }) => 'pps' in query && /^\d+$/.test(query.siteid ?? ''),
    },
    { ...FORM, anyHost: true, mark: /elqSiteI/, when: ({ body }) => body?.includes('elqSiteI') ?? false },
  ],
}

/** Reads a visit. If `pps` is 3, it is a page view; other values request visitor data. */
function readVisit({ query }: VendorRequest): DecodedEvent[] {
  return query.pps === '3' ? [{ event: 'page_view', account: scalarOrNull(query.siteid), params: query }] : []
}

function readForm({ fields }: VendorRequest): DecodedEvent[] {
  const account = scalarOrNull(fields.elqSiteID ?? fields.elqSiteId)
  return [{ event: fields.elqFormName || 'form_submission', account, params: fields }]
}
