import type { Decoder } from './decoder.ts'
import { scriptLoad } from './route.ts'

const LOADER = /\/tpTracking\/loader\/load\.js$/

/** Tells who a visitor is in Merkle's register of persons; mostly loaded from the customer's own host. */
export const merkury: Decoder = {
  vendor: 'Merkle Merkury',
  source: 'https://github.com/MisterPhilip/omnibug',
  hosts: ['rkdms.com'],
  routes: [{ ...scriptLoad(LOADER, 'sv_cid'), anyHost: true }],
}
