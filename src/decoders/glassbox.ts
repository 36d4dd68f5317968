import type { Decoder } from './decoder.ts'
import { scalarOrNull } from './params.ts'
import { scriptLoad } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

const REPORT = /\/(?:reporting\/(?<account>[\w-]+)\/)?cls_report\/?$/

/**
 * Reports are sent to a host of the customer or the vendor, always with this path. The wire format is not documented.
 */
export const glassbox: Decoder = {
  vendor: 'Glassbox',
  source: 'https://github.com/MisterPhilip/omnibug/blob/master/src/providers/Glassbox.js',
  hosts: ['glassboxdigital.io', 'glassboxcdn.com', 'gbqofs.com', 'gbqofs.io'],
  routes: [
    { path: REPORT, anyHost: true, mark: /[?&]clsjsv=/, when: ({ query }) => 'clsjsv' in query, read: readReport },
    scriptLoad(/^\/(?<account>[\w-]+)\/(?:[\w-]+\/)*detector[\w.-]*\.js$/),
  ],
}

/** Reads a report. If the body is a form, it also contains the event (`e`). Other bodies are compressed. */
function readReport({ path, query, fields, body }: VendorRequest) {
  const params = /^[\w.]+=/.test(body ?? '') ? fields : query
  return [{ event: 'cls_report', account: scalarOrNull(REPORT.exec(path)?.groups?.account), params }]
}
