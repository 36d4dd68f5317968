import type { Decoder } from './decoder.ts'
import { pixel, scriptLoad } from './route.ts'

export const rakutenAdvertising: Decoder = {
  vendor: 'Rakuten Advertising',
  source: 'https://pubhelp.rakutenadvertising.com/hc/en-us',
  hosts: ['track.linksynergy.com', 'tag.rmp.rakuten.com'],
  routes: [
    pixel(/^\/(?:ep|eventnvppixel|nvp|cep)$/, { account: 'mid', event: () => 'conversion' }),
    scriptLoad(/^\/(?<account>\d+)\.ct\.js$/),
  ],
}
