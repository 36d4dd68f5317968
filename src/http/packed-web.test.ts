import { expect, test } from 'bun:test'
import { packWeb, unpackWeb } from './packed-web.ts'
import { staticFile } from './static-files.ts'

test('a packed bundle is unchanged after being written and read', () => {
  const page = staticFile('text/html; charset=utf-8', '<!doctype html><title>é</title>'.repeat(20))
  const picture = staticFile('image/png', new Uint8Array([137, 80, 0, 255]))
  const empty = staticFile('text/css', '')
  const bundle = {
    pages: { 'index.html': page },
    assets: { 'a-1.png': picture, 'b-2.css': empty },
    areas: { issues: ['a-1.png'] },
  }
  const { bytes, index } = packWeb(bundle)
  expect(unpackWeb(bytes, JSON.parse(JSON.stringify(index)))).toEqual(bundle)
})
