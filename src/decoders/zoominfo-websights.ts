import type { Decoder } from './decoder.ts'
import { jsonEvent, scriptLoad, sideChannel } from './route-builders.ts'

export const zoomInfoWebSights: Decoder = {
  vendor: 'ZoomInfo WebSights',
  source: 'https://help.zoominfo.com/s/article/WebSights-Installation',
  hosts: ['ws.zoominfo.com', 'ws-assets.zoominfo.com', 'zi-scripts.com'],
  routes: [
    jsonEvent(/^\/pixel\/collect$/, {
      account: ({ pixelId, pixel_id, id }) => pixelId ?? pixel_id ?? id,
      event: () => 'page_view',
    }),
    scriptLoad(/^\/pixel\/(?<account>[\w-]+)\/?$/),
    scriptLoad(/^\/(?:zi-tag|formcomplete)\.js$/),
    scriptLoad(/^\/unified\/v1\//),
    sideChannel(/^\/formcomplete/),
  ],
}
