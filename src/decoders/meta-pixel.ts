import type { DecodedEvent, Decoder } from './decoder.ts'
import { withEmbedded } from './embedded-params.ts'
import { bracketed } from './json.ts'
import { scalarOrNull } from './params.ts'
import { scriptLoad, serverEvents, sideChannel } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

const TR = /^\/tr\/?$/
/** https://developers.facebook.com/docs/marketing-api/conversions-api. Graph API paths may omit the version. */
const SERVER = /^\/(?:v\d+\.\d+\/)?(?<account>\d+)\/events\/?$/

export const metaPixel: Decoder = {
  vendor: 'Meta Pixel',
  source: 'https://developers.facebook.com/docs/meta-pixel/advanced',
  hosts: ['facebook.com', 'connect.facebook.net'],
  routes: [
    // Microdata that the pixel found in the page's markup. It is sent automatically after a page view and is not one of
    // the site's events.
    { ...sideChannel(TR), when: ({ fields }) => fields.ev?.toLowerCase() === 'microdata' },
    { path: TR, read: readPixel },
    {
      ...serverEvents(SERVER, { list: 'data', event: 'event_name' }),
      when: ({ host }) => host === 'graph.facebook.com',
    },
    // A repeated event for the browser's attribution API, and reports on the vendor's own code.
    sideChannel(/^\/(?:privacy_sandbox|log)\//),
    scriptLoad(/^\/signals\/config\/(?<account>\d+)$/),
    scriptLoad(/\/fb(?:events|ds)\.js$|^\/signals\//),
  ],
}

/**
 * Products and their ids are each in a parameter that contains JSON. The parameters are not removed; their values are
 * added with keys such as `cd[contents][0][id]`.
 */
function readPixel({ fields }: VendorRequest): DecodedEvent[] {
  const inside = ['cd[contents]', 'cd[content_ids]'].flatMap((key) => Object.entries(bracketed(key, fields[key])))
  const params = withEmbedded(fields, inside)
  return [{ event: fields.ev ?? '', account: scalarOrNull(fields.id), params }]
}
