import type { Decoder } from './decoder.ts'
import { pixel, scriptLoad, sideChannel } from './route.ts'

/** The account is `g`. A page says all the time that it is being looked at, and the first time with `c=0`. */
export const chartbeat: Decoder = {
  vendor: 'Chartbeat',
  source: 'https://docs.chartbeat.com/',
  hosts: ['chartbeat.net', 'chartbeat.com'],
  routes: [
    pixel(/^\/ping$/, { account: 'g', event: () => 'ping' }),
    // Which headline to show, and which one was.
    sideChannel(/^\/(?:ping\/mab|mab_strategy)\//),
    scriptLoad(/^\/js\/chartbeat\w*\.js$/),
  ],
}
