import type { Decoder } from './decoder.ts'
import { scriptLoad, sideChannel } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

const SCRIPT = /^\/pages\/(?:scripts|data-scripts|sampling-data-scripts)\/(\d+)\/(\d+)\.js(?:on)?$/

/** Recordings have no event names and are sent to other hosts. */
export const crazyEgg: Decoder = {
  vendor: 'Crazy Egg',
  source: 'https://support.crazyegg.com/hc/en-us/articles/360054584474-Install-Crazy-Egg',
  hosts: ['crazyegg.com'],
  routes: [
    { path: SCRIPT, carries: 'library', read: readScript },
    scriptLoad(/^\/pages\/versioned\//),
    { ...sideChannel(/^\//), when: ({ host }) => host.includes('tracking') },
  ],
}

/** The path contains the account number in two parts: `/0028/7323.js`. */
function readScript({ path, query }: VendorRequest) {
  const [, start = '', end = ''] = SCRIPT.exec(path) ?? []
  return [{ event: '', account: start + end, kind: 'library' as const, params: query }]
}
