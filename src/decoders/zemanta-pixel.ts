import type { DecodedEvent, Decoder } from './decoder.ts'
import { scriptLoad, sideChannel } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

/** Path of a pixel. A path without an event name is a page view. */
const PIXEL = /^\/(?:v\d\/)?p\/(?:(?:ns|js|s2s)\/)?(?<account>\d+)(?:\/(?<event>[^/]+))?\/?$/

export const zemantaPixel: Decoder = {
  vendor: 'Zemanta Pixel',
  source: 'https://help.zemanta.com/article/show/12987-pixels--custom-audiences',
  hosts: ['zemanta.com'],
  routes: [{ path: PIXEL, read: readPixel }, scriptLoad(/^\/(?:zcpt|zemApi)[^/]*\.js$/), sideChannel(/^\/usersync\//)],
}

function readPixel({ path, fields }: VendorRequest): DecodedEvent[] {
  const { account = null, event = 'PAGE_VIEW' } = PIXEL.exec(path)?.groups ?? {}
  return [{ event, account, params: fields }]
}
