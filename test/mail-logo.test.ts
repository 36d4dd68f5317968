import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { NO_EXTRAS } from '../src/mail/mail-document.ts'
import { LOGO_CID_URL, LOGO_DATA_URL, LOGO_PICTURE } from '../src/mail/mail-logo.ts'
import { renderMail } from '../src/mail/render-mail.ts'
import { renderMailHtml } from '../src/mail/render-mail-html.ts'
import { cornersOf, MAIL_LOGO, mailLogo } from './mail-logo.ts'

const mail = { ...NO_EXTRAS, subject: 'Subject', headline: 'Headline' }

test('the image in e-mails is the logo, and small', () => {
  expect(readFileSync(MAIL_LOGO).equals(mailLogo())).toBe(true)
  expect(readFileSync(MAIL_LOGO).equals(LOGO_PICTURE.png)).toBe(true)
  expect(LOGO_PICTURE.png.length).toBeLessThan(2000)
})

test('an e-mail contains the image that it shows', () => {
  const { html, pictures } = renderMail(mail)
  expect(html).toContain(`<img src="${LOGO_CID_URL}" width="24" height="24" alt="Tagwarden"`)
  expect(pictures).toEqual([LOGO_PICTURE])
})

test('a page that shows an e-mail contains the image', () => {
  const page = renderMailHtml(mail, LOGO_DATA_URL)
  expect(page).toContain('<img src="data:image/png;base64,')
  expect(page).not.toContain('cid:')
})

test('paths are read as SVG defines them', () => {
  expect(cornersOf('M1 2 3 4v2')).toEqual([
    { x: 1, y: 2 },
    { x: 3, y: 4 },
    { x: 3, y: 6 },
  ])
  expect(cornersOf('m1 2 3-4').at(-1)).toEqual({ x: 4, y: -2 })
  expect(cornersOf('M1 1c0 2 2 2 3.5-.5').at(-1)).toEqual({ x: 4.5, y: 0.5 })
  expect(() => cornersOf('M0 0A1 1 0 0 0 2 2')).toThrow('the path command A is not supported')
})
