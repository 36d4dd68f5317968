import type { Decoder } from './decoder.ts'
import { pixel, scriptLoad, sideChannel } from './route-builders.ts'

/** The account is `g`. A page sends pings while it is open. The first ping has `c=0`. */
export const chartbeat: Decoder = {
  vendor: 'Chartbeat',
  source: 'https://docs.chartbeat.com/',
  hosts: ['chartbeat.net', 'chartbeat.com'],
  routes: [
    pixel(/^\/ping$/, { account: 'g', event: () => 'ping' }),
    // Headline tests: which headline to show, and which one was shown.
    sideChannel(/^\/(?:ping\/mab|mab_strategy)\//),
    scriptLoad(/^\/js\/chartbeat\w*\.js$/),
  ],
}
