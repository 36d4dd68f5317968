import type { Decoder } from './decoder.ts'
import { pixel, scriptLoad, sideChannel } from './route-builders.ts'

/** The account is the app token. Events have tokens instead of names. */
export const adjust: Decoder = {
  vendor: 'Adjust',
  source: 'https://dev.adjust.com/en/sdk/web',
  hosts: ['adjust.com', 'adjust.net.in', 'adjust.world', 'adjust.cn'],
  routes: [
    pixel(/^\/event\/?$/, { account: 'app_token', event: 'event_token' }),
    pixel(/^\/session\/?$/, { account: 'app_token', event: () => 'session' }),
    // The source that brought the visitor, and the visitor's consent.
    sideChannel(/^\/(?:attribution|sdk_click|sdk_info|gdpr_forget_device|measurement_consent)\/?$/),
    sideChannel(/^\/(?:disable_)?third_party_sharing\/?$/),
    scriptLoad(/^\/adjust-(?:latest|[\d.]+)(?:\.min)?\.js$/),
  ],
}
