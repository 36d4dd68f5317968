import type { DecodedEvent, Decoder } from './decoder.ts'
import { insideJson, withEmbedded } from './embedded-params.ts'
import { scalarOrNull } from './params.ts'
import { scriptLoad } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

/** Paths of hits. The current script uses `conv`; its predecessor used `conversion`. */
const HIT = /^\/(?<kind>retargeting|conv|conversion)$/

export const seznamSklik: Decoder = {
  vendor: 'Seznam Sklik',
  source: 'https://napoveda.sklik.cz/mereni-a-optimalizace/',
  hosts: ['c.seznam.cz'],
  routes: [
    { path: HIT, when: ({ fields }) => Boolean(fields.id || fields.rtgId), read: readHit },
    scriptLoad(/^\/js\/[\w-]+\.js$/),
  ],
}

function readHit({ path, fields }: VendorRequest): DecodedEvent[] {
  const isRetargeting = HIT.exec(path)?.groups?.kind === 'retargeting'
  const account = scalarOrNull(fields.id || fields.rtgId)
  return [
    {
      event: isRetargeting ? 'retargeting' : 'conversion',
      account,
      params: withEmbedded(fields, insideJson(fields, 'ids')),
    },
  ]
}
