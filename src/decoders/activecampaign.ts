import type { DecodedEvent, Decoder } from './decoder.ts'
import { pixel, scriptLoad } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

/** https://developers.activecampaign.com/reference/track-event. The event key is secret and is not stored. */
export const activeCampaign: Decoder = {
  vendor: 'ActiveCampaign',
  source: 'https://developers.activecampaign.com/reference/site-tracking',
  hosts: ['trackcmp.net', 'app-us1.com', 'activehosted.com'],
  routes: [
    { path: /^\/event$/, read: readEvent },
    pixel(/^\/visit$/, { account: 'actid', event: () => 'page_view' }),
    {
      ...pixel(/^\/$/, { account: 'a', event: () => 'page_view' }),
      when: ({ host, query }) => host.startsWith('prism.') && 'u' in query,
    },
    { path: /^\/proc\.php$/, when: ({ body }) => body !== null, read: readForm },
    scriptLoad(/^\/(?:prism|diffuser\/diffuser|t)\.js$/),
  ],
}

function readEvent({ fields }: VendorRequest): DecodedEvent[] {
  const { key: _secret, actid = '', event = '', ...params } = fields
  return [{ event, account: actid || null, params: { actid, event, ...params } }]
}

/** Reads a form submission. Each account has its own host. */
function readForm({ host, fields }: VendorRequest): DecodedEvent[] {
  return [{ event: 'form_submission', account: host.split('.', 1)[0] ?? null, params: fields }]
}
