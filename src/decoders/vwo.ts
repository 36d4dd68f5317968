import type { DecodedEvent, Decoder } from './decoder.ts'
import { objectOf, scalarOrNull, scalarText } from './params.ts'
import { jsonEvent, scriptLoad, sideChannel } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

/** Events of image requests that contain no event name, by the letter in the file name. */
const IMAGES = new Map([
  ['v', 'page_view'],
  ['l', 'variation'],
  ['c', 'goal'],
  ['s', 'session'],
  ['h', 'heatmap'],
])

const IMAGE = /^\/(?:[a-z]{2}\d\d\/)?(?:nc\/)?(?<letter>[vlcsh])\.gif$/

/** https://developers.vwo.com/reference/api-details */
export const vwo: Decoder = {
  vendor: 'VWO',
  source: 'https://developers.vwo.com/docs/javascript-sdk',
  hosts: ['visualwebsiteoptimizer.com'],
  routes: [
    // If the path begins with an additional segment, this segment is the region.
    { path: /^\/(?:[a-z]{2}\d\d\/)?events\/t$/, read: readEvent },
    { path: IMAGE, read: readImage },
    jsonEvent(/^\/(?:[a-z]{2}\d\d\/)?(?:server-side|mobile-app)\/(?<event>[\w-]+)$/, {
      account: ({ account_id, a }) => account_id ?? a,
    }),
    scriptLoad(/\/j\.php$/, 'a'),
    scriptLoad(/^\/lib\/(?<account>\d+)\.js$/),
    scriptLoad(/\.js$/),
    { ...sideChannel(/^\//), when: ({ host }) => host.startsWith('dev.') },
  ],
}

/** `{"d": {"event": {"name": …, "props": …}}}`. The name and the account are also in the query. */
function readEvent(request: VendorRequest): DecodedEvent[] {
  const { query } = request
  const data = request.body ? objectOf(request.json.d) : {}
  const event = scalarText(query.en) || scalarText(objectOf(data.event).name)
  return [{ event, account: scalarOrNull(query.a), params: { ...query, ...data } }]
}

function readImage({ path, query }: VendorRequest): DecodedEvent[] {
  const letter = IMAGE.exec(path)?.groups?.letter ?? ''
  return [{ event: IMAGES.get(letter) ?? '', account: scalarOrNull(query.account_id ?? query.a), params: query }]
}
