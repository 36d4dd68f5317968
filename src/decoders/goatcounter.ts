import type { Decoder, Route } from './decoder.ts'
import { scriptLoad } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

const COUNT: Route = { path: /\/count$/, read: readCount }

/** The account is the code of the site in `<code>.goatcounter.com`. A self-hosted server has no account. */
export const goatcounter: Decoder = {
  vendor: 'GoatCounter',
  source: 'https://www.goatcounter.com/help/pixel',
  hosts: ['goatcounter.com', 'gc.zgo.at'],
  routes: [
    { ...COUNT, when: ({ query }) => 'p' in query },
    scriptLoad(/^\/count(?:\.v\d+)?\.js$/),
    {
      ...COUNT,
      anyHost: true,
      mark: /^(?=.*[?&]p=)(?=.*[?&]rnd=).*[?&][se]=/,
      when: ({ query }) => 'p' in query && 'rnd' in query && ('s' in query || 'e' in query),
    },
  ],
}

/** `p` is the path of a page or the name of an event. */
function readCount({ host, query }: VendorRequest) {
  const account = /^([^.]+)\.goatcounter\.com$/.exec(host)?.[1] ?? null
  return [{ event: query.e === 'true' ? (query.p ?? '') : 'pageview', account, params: query }]
}
