import Foundation

let log: @Sendable (String) -> Void = { FileHandle.standardError.write(Data(($0 + "\n").utf8)) }
let tagwarden = Tagwarden(folder: URL(fileURLWithPath: CommandLine.arguments[1]), version: 418, sendAfter: 0.05,
                          firstRetry: 0.02, onError: log)
tagwarden.screen("app://shop.example/cart", title: "Cart")
while let line = readLine() {
    let words = line.split(separator: " ")
    if words[0] == "track" {
        for order in Int(words[1])!..<Int(words[2])! {
            tagwarden.track("Shop", "purchase", params: ["order": order, "note": String(repeating: "ü \"\n", count: 20)],
                            fields: ["status": "ok"])
        }
    }
    let done = DispatchSemaphore(value: 0)
    tagwarden.flush { done.signal() }
    done.wait()
    print(words[0])
    fflush(stdout)
    if words[0] == "close" { break }
}
