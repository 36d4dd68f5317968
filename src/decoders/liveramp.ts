import type { Decoder } from './decoder.ts'
import { scriptLoad, sideChannel } from './route-builders.ts'

/** Synchronises ids with other vendors. None of its requests contains an event. */
export const liveRamp: Decoder = {
  vendor: 'LiveRamp',
  source: 'https://docs.liveramp.com/privacy-manager/en/ats-js.html',
  hosts: ['rlcdn.com', 'privacymanager.io'],
  routes: [
    scriptLoad(/^\/(?:ats-modules\/)?(?<account>[0-9a-f]{8}-[0-9a-f-]{27})\/[\w./-]+\.js$/),
    scriptLoad(/\.js$/),
    sideChannel(/^\/\d+\.(?:gif|html|json|png)$|^\/api\//),
  ],
}
