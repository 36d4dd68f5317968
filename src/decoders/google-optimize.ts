import type { Decoder } from './decoder.ts'
import { scriptLoad } from './route-builders.ts'

/** Discontinued in 2023. Many pages still load its script, which blocks them while it waits for a response. */
export const googleOptimize: Decoder = {
  vendor: 'Google Optimize',
  source: 'https://support.google.com/optimize/answer/12979939',
  hosts: ['googleoptimize.com', 'google-analytics.com'],
  routes: [
    scriptLoad(/^\/(?:optimize\.js|gtm\/(?:optimize\.)?js)$/, 'id'),
    scriptLoad(/^\/cx\/api\.js$/, 'experiment'),
  ],
}
