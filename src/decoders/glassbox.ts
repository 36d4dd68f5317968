import type { Decoder } from './decoder.ts'
import { scalarOrNull } from './params.ts'
import type { VendorRequest } from './request.ts'
import { scriptLoad } from './route.ts'

const REPORT = /\/(?:reporting\/(?<account>[\w-]+)\/)?cls_report\/?$/

/** Reports go to hosts of the customer or of the vendor, always to this path. Its wire format is not described. */
export const glassbox: Decoder = {
  vendor: 'Glassbox',
  source: 'https://github.com/MisterPhilip/omnibug/blob/master/src/providers/Glassbox.js',
  hosts: ['glassboxdigital.io', 'glassboxcdn.com', 'gbqofs.com', 'gbqofs.io'],
  routes: [
    { path: REPORT, anyHost: true, mark: /[?&]clsjsv=/, when: ({ query }) => 'clsjsv' in query, read: readReport },
    scriptLoad(/^\/(?<account>[\w-]+)\/(?:[\w-]+\/)*detector[\w.-]*\.js$/),
  ],
}

/** A body that is a form adds what happened (`e`); others are compressed. */
function readReport({ path, query, fields, body }: VendorRequest) {
  const params = /^[\w.]+=/.test(body ?? '') ? fields : query
  return [{ event: 'cls_report', account: scalarOrNull(REPORT.exec(path)?.groups?.account), params }]
}
