// Sends events from an iOS app (iOS 12 or later, Swift 5.5 or later) to Tagwarden. No dependencies.
// ExampleApp.swift shows how to use it.
//
// Each event is appended to a file before it is sent, so no event is lost when the app ends or the network is
// unavailable. A batch is retried with the same id until it is stored, and is counted only once within 24 hours. Each
// process needs its own folder. All methods can be called from any thread and return immediately: the work is done on a
// queue.

import Foundation
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

private let eventsURL: String = "{{EVENTS_URL}}"
private let token: String = "{{TOKEN}}"

/// Share of devices that send events. A device in the sample stays in it when the share increases.
private let sampleRates: [String: Double] = ["prod": "{{PROD_RATE}}", "dev": "{{DEV_RATE}}"]

/// The server accepts up to 1,000 events and 1 MiB per batch.
private let maxBatchEvents = 100
private let maxBatchBytes = 512 * 1024
/// Maximum queue size. When it is exceeded, the oldest batches are deleted.
private let maxQueueBytes = 5 * 1024 * 1024
private let requestTimeout: TimeInterval = 30
private let maxRetry: TimeInterval = 5 * 60
/// Delay after a wrong token or URL, and maximum delay that the server can request.
private let hour: TimeInterval = 60 * 60
/// A session ends after this time without an event.
private let sessionTimeout: TimeInterval = 30 * 60

public final class Tagwarden: @unchecked Sendable {
    private struct OpenBatch {
        let name: String
        let head: Data
        var events = 0
        var bytes = 0
    }

    private let folder: URL
    private let env: String
    private let version: Int?
    private let sampleRate: Double
    private let sendAfter: TimeInterval
    private let firstRetry: TimeInterval
    private let onError: @Sendable (String) -> Void
    private let session: URLSession
    private let queue = DispatchQueue(label: "tagwarden", qos: .utility)

    // Everything below is used only on the queue.
    private var isSampled = false
    private var open: OpenBatch?
    private var hasTimer = false
    private var isSending = false
    private var afterSending: [@Sendable () -> Void] = []
    private var page: [String: String]?
    private var customerId: String?
    private var sessionId = ""
    private var lastEventAt = Date.distantPast
    private var lastId: Int64 = 0
    private var failures = 0
    /// Seconds of system uptime, which is never set back.
    private var waitUntil: TimeInterval = 0

    /// `folder`: stores the queue and the random id of this installation; by default in Application Support. `env`:
    /// "prod" or "dev". `version`: release number. `onError` is called on a background queue when events are lost or
    /// cannot be sent.
    public init(
        folder: URL? = nil,
        env: String = "prod",
        version: Int? = nil,
        sendAfter: TimeInterval = 10,
        firstRetry: TimeInterval = 1,
        onError: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        let support = FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask)
        let parent = support.first ?? FileManager.default.temporaryDirectory
        self.folder = folder ?? parent.appendingPathComponent("Tagwarden", isDirectory: true)
        self.env = env
        self.version = version
        self.sampleRate = sampleRates[env] ?? 1
        self.sendAfter = sendAfter
        self.firstRetry = firstRetry
        self.onError = onError
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = requestTimeout
        session = URLSession(configuration: configuration, delegate: NoRedirects(), delegateQueue: nil)
        run { me in
            try me.prepareFolder()
            me.isSampled = try me.isDeviceSampled()
            for name in try me.names(".open") { try me.seal(name) }
            me.schedule(0)
        }
    }

    /// Queues an event. `fields`: "account", "status" (ok, failure, exception, timeout, blocked) and "execMs".
    /// Values must be valid in JSON: strings, numbers, booleans, arrays and dictionaries of them.
    public func track(_ vendor: String, _ event: String, params: [String: Any] = [:], fields: [String: Any] = [:]) {
        let now = Date()
        var item: [String: Any] = ["id": UUID().uuidString, "ts": milliseconds(now), "vendor": vendor, "event": event]
        item["params"] = params
        item.merge(fields) { own, _ in own }
        guard JSONSerialization.isValidJSONObject(item), let line = try? JSONSerialization.data(withJSONObject: item)
        else { return onError("Tagwarden: an event was lost: it is not valid in JSON") }
        run { me in if me.isSampled { try me.append(line, now) } }
    }

    /// Sets the screen for the following events. The URL can have any scheme: app://shop.example/checkout/payment
    public func screen(_ url: String, title: String? = nil) {
        var page = ["url": url]
        page["title"] = title
        run { [page] me in me.page = page }
    }

    /// Sets the customer for the following events; nil if unknown. The server stores a hash of the id.
    public func customer(_ id: String?) {
        run { me in me.customerId = id }
    }

    /// Sends the queued events, unless the server requested a delay. Call it when the app goes to the background.
    /// `onDone` is called on a background queue after the attempt.
    public func flush(onDone: @escaping @Sendable () -> Void = {}) {
        run { me in
            me.afterSending.append(onDone)
            me.send()
        }
    }

    private func run(_ task: @escaping @Sendable (Tagwarden) throws -> Void) {
        queue.async {
            do { try task(self) } catch { self.onError("Tagwarden: \(error)") }
        }
    }

    private func prepareFolder() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        #if canImport(Darwin)
        // A restored device counts as a new device.
        var values = URLResourceValues()
        values.isExcludedFromBackup = true
        var target = folder
        try target.setResourceValues(values)
        #endif
    }

    /// The first 32 bits of the id are random, so the share is accurate and a device's result is always the same.
    private func isDeviceSampled() throws -> Bool {
        let file = folder.appendingPathComponent("install-id")
        let known = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
        var bits = UInt32(known.prefix(8), radix: 16)
        if bits == nil {
            let id = UUID().uuidString
            try id.write(to: file, atomically: true, encoding: .utf8)
            bits = UInt32(id.prefix(8), radix: 16)
        }
        return Double(bits ?? 0) < sampleRate * 4_294_967_296
    }

    private func append(_ line: Data, _ now: Date) throws {
        if now.timeIntervalSince(lastEventAt) > sessionTimeout || now < lastEventAt { sessionId = UUID().uuidString }
        lastEventAt = now
        guard line.count <= maxBatchBytes else {
            return onError("Tagwarden: an event is larger than \(maxBatchBytes) bytes")
        }
        let head = try currentHead()
        if let batch = open, batch.head != head || batch.bytes + line.count > maxBatchBytes { try sealOpen() }
        var batch = open ?? OpenBatch(name: newId(now) + ".open", head: head)
        batch.events += 1
        batch.bytes += line.count
        open = batch
        do {
            try write(batch.events == 1 ? head + newline + line + newline : line + newline, to: batch.name)
        } catch {
            // The line may be incomplete, so nothing must be appended to this file.
            try? sealOpen()
            throw error
        }
        if batch.events >= maxBatchEvents { try sealOpen() }
        schedule(sendAfter)
    }

    private func currentHead() throws -> Data {
        var head: [String: Any] = ["env": env, "sampleRate": sampleRate, "sessionId": sessionId]
        head["version"] = version
        head["customerId"] = customerId
        head["language"] = Locale.current.identifier
        head["page"] = page
        return try JSONSerialization.data(withJSONObject: head, options: .sortedKeys)
    }

    private func write(_ data: Data, to name: String) throws {
        let file = folder.appendingPathComponent(name)
        guard let handle = try? FileHandle(forWritingTo: file) else { return try data.write(to: file) }
        defer { handle.closeFile() }
        handle.seekToEndOfFile()
        if #available(iOS 13.4, macOS 10.15.4, tvOS 13.4, watchOS 6.2, *) {
            try handle.write(contentsOf: data)
        } else {
            handle.write(data)
        }
    }

    /// Batch ids sort by time.
    private func newId(_ now: Date) -> String {
        lastId = max(milliseconds(now), lastId + 1)
        let digits = String(lastId)
        return String(repeating: "0", count: max(0, 15 - digits.count)) + digits + "-" + UUID().uuidString
    }

    private func schedule(_ seconds: TimeInterval) {
        if hasTimer { return }
        hasTimer = true
        let wait = max(seconds, waitUntil - ProcessInfo.processInfo.systemUptime)
        queue.asyncAfter(deadline: .now() + wait) {
            self.hasTimer = false
            self.send()
        }
    }

    private func send() {
        if isSending { return }
        do {
            try sealOpen()
            let isTime = ProcessInfo.processInfo.systemUptime >= waitUntil
            guard isTime, let name = try names(".batch").first else { return finishSending() }
            isSending = true
            try post(name)
        } catch {
            retry(after: 0, because: "\(error)")
            finishSending()
        }
    }

    private func finishSending() {
        isSending = false
        let callbacks = afterSending
        afterSending = []
        for callback in callbacks { callback() }
        if let waiting = try? names(".batch"), !waiting.isEmpty { schedule(0) }
    }

    private func post(_ name: String) throws {
        let text = try Data(contentsOf: folder.appendingPathComponent(name))
        // A killed process can leave an incomplete line at the end.
        let lines = text.split(separator: newline[0], omittingEmptySubsequences: false).dropLast()
        guard let head = lines.first, lines.count > 1, let url = URL(string: eventsURL) else {
            return try finish(name)
        }
        let id = String(name.dropLast(".batch".count))
        var body = Data("{\"batchId\":\"\(id)\",\"sentAt\":\(milliseconds(Date())),".utf8)
        body += head.dropFirst().dropLast() + Data(",\"events\":[".utf8)
        body += Data(lines.dropFirst().joined(separator: Data(",".utf8))) + Data("]}".utf8)
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        request.httpBody = body
        request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        let events = lines.count - 1
        session.dataTask(with: request) { data, response, error in
            let answer = String(decoding: data ?? Data(), as: UTF8.self)
            let reason = error.map { "\($0)" }
            let http = response as? HTTPURLResponse
            let status = http?.statusCode
            let asked = (http?.allHeaderFields["Retry-After"] as? String).flatMap { TimeInterval($0) }
            self.run { me in
                try me.answered(name, events: events, status: status, asked: asked, answer: reason ?? answer)
            }
        }.resume()
    }

    private func answered(_ name: String, events: Int, status: Int?, asked: TimeInterval?, answer: String) throws {
        switch status {
        case 202:
            if !answer.contains("\"rejected\":0") { onError("Tagwarden: events were rejected: \(answer)") }
            try finish(name)
        case 400, 413, 415, 422:
            onError("Tagwarden: a batch of \(events) events was rejected: \(answer)")
            try finish(name)
        case 401, 403, 404:
            retry(after: hour, because: answer)
            finishSending()
        default:
            retry(after: asked ?? 0, because: answer)
            finishSending()
        }
    }

    /// Deletes a batch and continues with the next one.
    private func finish(_ name: String) throws {
        failures = 0
        isSending = false
        // The file has already been deleted if the queue was full.
        try? FileManager.default.removeItem(at: folder.appendingPathComponent(name))
        send()
    }

    /// Waits for the time that the server requested, or doubles the delay. Adds up to 50 % at random to spread retries.
    private func retry(after asked: TimeInterval, because reason: String) {
        let backoff = min(maxRetry, firstRetry * pow(2, Double(min(failures, 20))))
        failures += 1
        let wait = asked > 0 ? min(asked, hour) : backoff
        waitUntil = ProcessInfo.processInfo.systemUptime + wait * Double.random(in: 1...1.5)
        onError("Tagwarden: sending again in \(Int(wait.rounded(.up))) s: \(reason)")
    }

    private func sealOpen() throws {
        guard let name = open?.name else { return }
        open = nil
        try seal(name)
    }

    private func seal(_ name: String) throws {
        let sealed = String(name.dropLast(".open".count)) + ".batch"
        let from = folder.appendingPathComponent(name)
        try FileManager.default.moveItem(at: from, to: folder.appendingPathComponent(sealed))
        var total = 0
        for batch in try names(".batch").reversed() {
            let path = folder.appendingPathComponent(batch).path
            total += (try FileManager.default.attributesOfItem(atPath: path)[.size] as? NSNumber)?.intValue ?? 0
            if total > maxQueueBytes {
                try FileManager.default.removeItem(atPath: path)
                onError("Tagwarden: the queue is full, so its oldest batch was deleted")
            }
        }
    }

    /// Returns the oldest first.
    private func names(_ end: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(end) }.sorted()
    }
}

private let newline = Data("\n".utf8)

private func milliseconds(_ date: Date) -> Int64 { Int64(date.timeIntervalSince1970 * 1000) }

/// A redirected POST would become a GET.
private final class NoRedirects: NSObject, URLSessionTaskDelegate {
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }
}
