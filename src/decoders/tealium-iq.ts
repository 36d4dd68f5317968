import type { DecodedEvent, Decoder, Route } from './decoder.ts'
import { withEmbedded } from './embedded-params.ts'
import { sideChannel } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

const LIBRARY: Route = {
  path: /\/utag\/[\w-]+\/[\w.-]+\/[\w-]+\/utag(?:\.(?:sync|\d+))?\.js$/,
  when: ({ body }) => !body,
  carries: 'library',
  read: readLibrary,
}

/** The loader, the part of it that runs first, and one file per tag. The account is `<account>/<profile>`. */
export const tealiumIq: Decoder = {
  vendor: 'Tealium iQ',
  source: 'https://docs.tealium.com/platforms/javascript/install/',
  hosts: ['tiqcdn.com', 'tiqcdn.cn'],
  routes: [
    LIBRARY,
    // Reports the version of the profile that ran.
    sideChannel(/^\/utag\/tiqapp\/utag\.\w+\.js$/),
    { ...LIBRARY, anyHost: true, mark: /\n$/ },
  ],
}

function readLibrary({ path, query }: VendorRequest): DecodedEvent[] {
  const [account, profile, environment] = path.slice(path.indexOf('/utag/') + '/utag/'.length).split('/')
  return [
    {
      event: '',
      account: `${account}/${profile}`,
      kind: 'library',
      params: withEmbedded({ environment }, Object.entries(query)),
    },
  ]
}
