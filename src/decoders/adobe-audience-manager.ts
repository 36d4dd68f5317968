import type { Decoder } from './decoder.ts'
import { scriptLoad, sideChannel } from './route.ts'

export const adobeAudienceManager: Decoder = {
  vendor: 'Adobe Audience Manager',
  source:
    'https://experienceleague.adobe.com/en/docs/audience-manager/user-guide/api-and-sdk-code/dcs/dcs-api-reference/dcs-api-methods',
  hosts: ['demdex.net'],
  routes: [
    {
      path: /^\/event$/,
      // `d_*` is the service's, `c_*` the page's. The customer is the name before the service's own.
      read: ({ host, fields }) => {
        const customer = host.split('.').at(-3) ?? ''
        return [{ event: 'event', account: customer === 'dpm' || customer === '' ? null : customer, params: fields }]
      },
    },
    // Matches of ids with others.
    sideChannel(/^\/(?:ibs:|demconf\.jpg|firstevent)/),
    scriptLoad(/^\/dest\d\.html$|\.js$/),
  ],
}
