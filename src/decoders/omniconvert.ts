import type { Decoder } from './decoder.ts'
import { pixel, scriptLoad } from './route-builders.ts'

export const omniconvert: Decoder = {
  vendor: 'Omniconvert',
  source: 'https://help.omniconvert.com/kba/installing-the-omniconvert-tracking-code-on-your-website/',
  hosts: ['omniconvert.com'],
  routes: [
    {
      ...pixel(/\/mktzsave\/?$/, { account: 'id_website', event: 'event' }),
      // The customer's own host may also serve the script.
      anyHost: true,
      mark: /[?&\n]id_website=/,
      when: ({ fields }) => 'id_website' in fields,
    },
    { ...scriptLoad(/^\/js\/(?<account>[\w-]+)\.js$/), when: ({ host }) => host.startsWith('cdn.') },
  ],
}
