import { describe, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PURCHASE_FACTS } from '../../src/integrations/message/message.fixture.ts'
import { buildMessage } from '../../src/integrations/message/message.ts'
import { webhookBody, webhookRequest } from '../../src/integrations/providers/webhook/standard-webhooks.ts'
import { temporaryFolder } from '../run-program.ts'

const guide = readFileSync(join(import.meta.dir, '../../docs/connect/webhooks.md'), 'utf8')
const codeOf = (language: string) => new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``).exec(guide)?.[1] ?? ''

const message = buildMessage({ ...PURCHASE_FACTS, alert: { id: 'alr_1', name: 'Größe "ä" 😀' } })
const secret = `whsec_${Buffer.alloc(32, 5).toString('base64')}`
const former = `whsec_${Buffer.alloc(24, 6).toString('base64')}`
const config = { url: 'https://hooks.example.com/x', secret }

interface Case {
  secret: string
  headers: Record<string, string>
  body: string
}

/** Returns requests that a receiver must accept or reject, with the expected result. */
function casesNow(): [Case, boolean][] {
  const { headers, body } = webhookRequest(message, config, { deliveryId: 'dlv_1', at: Date.now(), former: [former] })
  const old = webhookRequest(message, config, { deliveryId: 'dlv_1', at: Date.now() - 301_000 })
  const { 'webhook-signature': _, ...unsigned } = headers
  const good = { secret, headers, body }
  return [
    [good, true],
    [{ ...good, secret: former }, true],
    [{ ...good, secret: `whsec_${Buffer.alloc(32, 7).toString('base64')}` }, false],
    [{ ...good, body: `${body} ` }, false],
    [{ ...good, headers: { ...headers, 'webhook-id': 'dlv_2' } }, false],
    [
      { ...good, headers: { ...headers, 'webhook-timestamp': String(Number(headers['webhook-timestamp']) + 1) } },
      false,
    ],
    [{ ...good, headers: { ...headers, 'webhook-timestamp': 'now' } }, false],
    [{ ...good, headers: { ...headers, 'webhook-signature': 'v1,AAAA v2,AAAA' } }, false],
    [{ ...good, headers: unsigned }, false],
    [{ ...good, headers: old.headers, body: old.body }, false],
  ]
}

const PYTHON = `
import json, sys
from webhook import is_from_tagwarden
print(json.dumps([is_from_tagwarden(c["secret"], c["headers"], c["body"].encode()) for c in json.load(sys.stdin)]))
`

// One case per line, with its parts in base64, because Java has no built-in JSON parser.
const JAVA = `
import java.nio.charset.StandardCharsets;
import java.util.*;
public final class Main {
  public static void main(String[] arguments) throws Exception {
    List<Boolean> said = new ArrayList<>();
    for (Scanner lines = new Scanner(System.in); lines.hasNextLine(); ) {
      byte[][] parts = Arrays.stream(lines.nextLine().split(" ")).map(Base64.getDecoder()::decode).toArray(byte[][]::new);
      String[] texts = Arrays.stream(parts).map(part -> part.length == 0 ? null : new String(part, StandardCharsets.UTF_8)).toArray(String[]::new);
      said.add(Webhook.isFromTagwarden(texts[0], texts[1], texts[2], texts[3], parts[4]));
    }
    System.out.println(said);
  }
}
`

async function run(cwd: string, command: string[], input = ''): Promise<string> {
  const child = Bun.spawn(command, { cwd, stdin: new Blob([input]), stdout: 'pipe', stderr: 'inherit' })
  const said = await new Response(child.stdout).text()
  expect(await child.exited).toBe(0)
  return said
}

describe("the guide's code", () => {
  test('verifies signatures in JavaScript', async () => {
    using folder = temporaryFolder()
    const path = join(folder.path, 'webhook.js')
    writeFileSync(path, codeOf('js'))
    const { isFromTagwarden } = await import(path)
    const said = casesNow().map(([one]) => isFromTagwarden(one.secret, one.headers, one.body))
    expect(said).toEqual(casesNow().map(([, expected]) => expected))
  })

  test.skipIf(!Bun.which('python3'))('verifies signatures in Python', async () => {
    using folder = temporaryFolder()
    writeFileSync(join(folder.path, 'webhook.py'), codeOf('python'))
    writeFileSync(join(folder.path, 'main.py'), PYTHON)
    const cases = casesNow()
    const said = await run(folder.path, ['python3', 'main.py'], JSON.stringify(cases.map(([one]) => one)))
    expect(JSON.parse(said)).toEqual(cases.map(([, expected]) => expected))
  })

  test.skipIf(!Bun.which('javac'))('verifies signatures in Java', async () => {
    using folder = temporaryFolder()
    writeFileSync(join(folder.path, 'Webhook.java'), codeOf('java'))
    writeFileSync(join(folder.path, 'Main.java'), JAVA)
    await run(folder.path, ['javac', 'Webhook.java', 'Main.java'])
    const cases = casesNow()
    const lines = cases.map(([{ secret, headers, body }]) =>
      [secret, headers['webhook-id'], headers['webhook-timestamp'], headers['webhook-signature'], body]
        .map((part = '') => Buffer.from(part).toString('base64'))
        .join(' '),
    )
    const said = await run(folder.path, ['java', '-cp', '.', 'Main'], `${lines.join('\n')}\n`)
    expect(JSON.parse(said)).toEqual(cases.map(([, expected]) => expected))
  })

  test('documents the actual fields', () => {
    const shown = JSON.parse(codeOf('json'))
    const sent = JSON.parse(webhookBody(message))
    for (const [one, other] of [
      [shown, sent],
      [shown.data, sent.data],
      [shown.data.issue, sent.data.issue],
      [shown.data.issue.changes[0], sent.data.issue.changes[0]],
    ]) {
      expect(Object.keys(one).toSorted()).toEqual(Object.keys(other).toSorted())
    }
  })
})
