import type { Decoder } from './decoder.ts'
import type { Params } from './params.ts'
import { pixel, scriptLoad, sideChannel } from './route.ts'

export const redditPixel: Decoder = {
  vendor: 'Reddit Pixel',
  source: 'https://business.reddithelp.com/s/article/reddit-pixel',
  hosts: ['alb.reddit.com', 'redditstatic.com', 'pixel-config.reddit.com', 'conversions-config.reddit.com'],
  routes: [
    pixel(/^\/(?:rp|snoo)(?:\.gif)?$/, { account: 'id', event: eventName }),
    scriptLoad(/^\/ads\/(?:.+\/)?pixel\.js$/, 'pixel_id'),
    scriptLoad(/^\/ads\/conversions-config\/v1\/pixel\/config\/(?<account>[^/]+?)(?:_telemetry)?$/),
    sideChannel(/^\/pixels\//),
  ],
}

/** Events of the page's own making are all `Custom`. */
function eventName({ event = '', 'm.customEventName': custom }: Params): string {
  return event === 'Custom' ? custom || event : event
}
