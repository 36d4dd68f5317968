import { readFileSync } from 'node:fs'
import file from './logo.png' with { type: 'file' }

const png = new Uint8Array(readFileSync(file))

/** The logo as an image of an e-mail. `./run test/mail-logo.ts` draws it. The Content-ID is the same in all e-mails. */
export const LOGO_PICTURE = { id: 'logo@tagwarden', name: 'logo.png', png } as const

/** URL of the logo in an e-mail that contains `LOGO_PICTURE`. */
export const LOGO_CID_URL = `cid:${LOGO_PICTURE.id}`

/** URL of the logo in a page that shows an e-mail, such as the preview of the digest. */
export const LOGO_DATA_URL = `data:image/png;base64,${Buffer.from(png).toString('base64')}`
