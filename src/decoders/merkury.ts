import type { Decoder } from './decoder.ts'
import { scriptLoad } from './route-builders.ts'

const LOADER = /\/tpTracking\/loader\/load\.js$/

/** Finds a visitor in Merkle's identity graph. Usually loaded from the customer's own host. */
export const merkury: Decoder = {
  vendor: 'Merkle Merkury',
  source: 'https://github.com/MisterPhilip/omnibug',
  hosts: ['rkdms.com'],
  routes: [{ ...scriptLoad(LOADER, 'sv_cid'), anyHost: true }],
}
