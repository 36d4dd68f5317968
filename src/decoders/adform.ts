import type { Decoder } from './decoder.ts'
import { pixel, scriptLoad, sideChannel } from './route-builders.ts'

/** Tracking points have the name of their page. The account is the tracking id. */
export const adform: Decoder = {
  vendor: 'Adform',
  source: 'https://www.adformhelp.com/hc/en-us/articles/9740580268049-Set-Up-Site-Tracking',
  hosts: ['adform.net', 'adformdsp.net'],
  routes: [
    pixel(/^\/serving\/trackpoint\/?$/i, { account: 'pm', event: ({ ADFPageName }) => ADFPageName || 'trackpoint' }),
    scriptLoad(/^\/(?:serving\/scripts\/trackpoint|banners\/scripts\/st\/trackpoint)/i),
    sideChannel(/^\/(?:serving\/)?(?:cookie|cookiesync)\b/i),
  ],
}
